/**
 * Returns an output whose failure ends the program without a PromiseRejectionHandledWarning. An output has promises that the SDK
 * handles only when the program passes it on. If it fails before, as with a value that is known at once, Node warns of that.
 */
export function failOnce<Output extends object>(output: Output): Output {
  const [isKnown, isSecret] = ["isKnown", "isSecret"].map((name) =>
    Promise.resolve<unknown>(Reflect.get(output, name)),
  );
  isKnown?.catch(() => {});
  // Nobody ever handles this one, so the SDK reports the error also of an output that is never passed on.
  void isSecret?.then(() => {});
  return output;
}

/**
 * Prepares an error that `apply` throws: the SDK prints its message alone. With a stack of the SDK's own files, Node.js 20 and 22 would
 * hang for 15 seconds before the program ends (engine rule 55).
 */
export function withoutStack<Failure extends Error>(error: Failure): Failure {
  return Object.assign(error, { stack: "" });
}
