/**
 * A failure that the operator of the installation can fix, such as a wrong setting. It is printed without a stack, so its
 * message must say what is wrong and what to do.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}
