/** Quotes a value for a shell, if it needs that. */
export function quoted(value: string): string {
  return /^[\w+/=.:-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
