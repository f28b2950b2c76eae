/** What the command line can write to a file or to its output. */
export type ExportedByCommand = 'audit' | 'database'

/** Called where a command begins to export something. */
export async function onExport(_what: ExportedByCommand): Promise<void> {}
