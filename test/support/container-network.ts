import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A network namespace for containers, which only this machine reaches, through a pair of virtual interfaces. */
export interface ContainerNetwork {
  /** Path of the namespace, for the description of a container. */
  readonly path: string
  /** The address of a container in it. */
  readonly address: string
  /** The address of this machine, as a container sees it. */
  readonly hostAddress: string
  remove(): Promise<void>
}

/** Needs root. Process ids keep runs of the tests apart, so a run has one of them at a time. */
export async function openContainerNetwork(): Promise<ContainerNetwork> {
  const name = `trunkline-${process.pid}`
  const [ours, theirs] = [`tl${process.pid}h`, `tl${process.pid}c`]
  // Blocks of four addresses in 198.18.0.0/15, which is reserved for tests between devices.
  const first = (process.pid % 2 ** 15) * 4
  const addressOf = (index: number) =>
    [198, 18 + (first >> 16), (first >> 8) & 255, (first & 255) + index].join('.')
  const [hostAddress, address] = [addressOf(1), addressOf(2)]
  const ip = (...args: string[]) => run('ip', args)
  const remove = async () => {
    // The interfaces end with the namespace.
    await ip('netns', 'del', name)
  }

  await ip('netns', 'add', name)
  try {
    await ip('link', 'add', ours, 'type', 'veth', 'peer', 'name', theirs, 'netns', name)
    await ip('addr', 'add', `${hostAddress}/30`, 'dev', ours)
    await ip('link', 'set', ours, 'up')
    await ip('-n', name, 'addr', 'add', `${address}/30`, 'dev', theirs)
    await ip('-n', name, 'link', 'set', theirs, 'up')
    await ip('-n', name, 'link', 'set', 'lo', 'up')
  } catch (error) {
    await remove()
    throw error
  }
  return { path: `/run/netns/${name}`, address, hostAddress, remove }
}
