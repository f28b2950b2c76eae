import { execFileSync, spawnSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A folder that has become a disk of its own, which is as small as a test needs it. Mounting requires root. */
export interface SmallDisk {
  readonly freeBytes: number
  /** Takes the space of the disk, but for this much. */
  fill(leaveBytes: number): void
  /** Gives back what {@link SmallDisk.fill} has taken. */
  free(): Promise<void>
  unmount(): void
}

export const canMount = process.getuid?.() === 0

/** Moves what the folder contains to a disk in memory, which replaces it. Nothing may use the folder. */
export async function mountSmallDisk(folder: string, bytes: number): Promise<SmallDisk> {
  const filler = join(folder, 'filler')
  const before = `${folder}-before`
  await rename(folder, before)
  await mkdir(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder])
  await cp(before, folder, { recursive: true })
  await rm(before, { recursive: true })

  return {
    get freeBytes() {
      return freeBytesOf(folder)
    },
    fill: (leaveBytes) => fillDisk(filler, leaveBytes),
    free: () => rm(filler, { force: true }),
    // Lazily, since a process that was just killed may still have files open.
    unmount: () => void execFileSync('umount', ['--lazy', folder]),
  }
}

/** Writes a file that takes the space of its disk, but for this much. */
export function fillDisk(filler: string, leaveBytes: number): void {
  const kib = Math.ceil((freeBytesOf(dirname(filler)) - leaveBytes) / 1024)
  // If others write meanwhile it ends with an error, but the disk is full, as it should be.
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1024', `count=${kib}`], { stdio: 'ignore' })
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
