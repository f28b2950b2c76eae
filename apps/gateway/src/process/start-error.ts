import { OperatorError } from '#core/operator-error.ts'

/** A start that failed for a reason the operator can repair. */
export class StartError extends OperatorError {}
