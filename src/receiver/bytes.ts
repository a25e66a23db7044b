const NOTHING = Buffer.alloc(0);

/**
 * Collects bytes in one buffer that doubles in size. A list of chunks would be simpler, but each chunk costs about a hundred
 * bytes, and a sender may send a million chunks of one byte.
 */
export class GrowingBytes {
  length = 0;
  #buffer: Buffer = NOTHING;

  add(chunk: Uint8Array): void {
    const length = this.length + chunk.length;
    if (this.length === 0) {
      // Most bodies arrive in one chunk, which is not copied.
      this.#buffer = asBuffer(chunk);
    } else {
      if (length > this.#buffer.length) {
        const larger = Buffer.allocUnsafeSlow(2 * length);
        larger.set(this.#buffer.subarray(0, this.length));
        this.#buffer = larger;
      }
      this.#buffer.set(chunk, this.length);
    }
    this.length = length;
  }

  whole(): Uint8Array {
    return this.length === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.length);
  }
}

/** Returns the same bytes, not a copy of them. */
export function asBuffer(bytes: ArrayBufferView): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
