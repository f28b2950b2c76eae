import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packTrunkline } from './built-package.ts'
import type { Image } from './container.ts'

const BUILD = join(import.meta.dirname, '../../.ci/image/build.sh')

export interface BuiltImage extends Image {
  remove(): Promise<void>
}

/** Builds the image of deploy/Containerfile. It needs root and the tools of {@link IMAGE_TOOLS}. */
export async function buildImage(env: Readonly<Record<string, string>>): Promise<BuiltImage> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-image-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await packTrunkline()
    await promisify(execFile)(BUILD, [folder], { env: { ...process.env, ...env } })
    const description = JSON.parse(await readFile(join(folder, 'image.json'), 'utf8'))
    return { root: join(folder, 'root'), settings: description.Docker.config, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** What building and running an image takes. */
export const IMAGE_TOOLS = ['buildah', 'crun', 'mmdebstrap', 'ip', 'unshare']
