import type { Principal } from '#core/principal.ts'

/** The lists that can be downloaded. */
export type ExportedList = 'usage' | 'calls' | 'refusals' | 'refusal-counts' | 'audit'

/** Called where a download begins: after its query was found valid and its first rows were read, before the first byte. */
export async function onExport(_caller: Principal, _list: ExportedList): Promise<void> {}
