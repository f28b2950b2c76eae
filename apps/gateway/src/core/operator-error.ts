/**
 * A failure that the operator of the installation can repair. Its message is one line that says everything they need;
 * no stack is shown with it.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}
