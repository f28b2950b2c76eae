/** A start that failed for a reason the operator can mend: its message is all they need. */
export class StartError extends Error {}
