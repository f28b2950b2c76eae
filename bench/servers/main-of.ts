import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkOut } from '../../test/support/last-release.ts'
import type { Stage } from '../stage.ts'

/** The program of a checkout whose packages are installed, or of a commit, which is checked out and installed. */
export async function mainOf(stage: Stage, from: string): Promise<string> {
  const main = resolve(from, 'apps/gateway/bin/trunkline.js')
  if (existsSync(main)) return main
  const release = await checkOut(from)
  stage.atEnd(release.remove)
  return release.main
}
