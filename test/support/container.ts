import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Finished } from './gateway.ts'

/** What an image says about the process that it starts, in Docker's format. */
export interface ImageSettings {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Volumes: Readonly<Record<string, object>>
  readonly ExposedPorts: Readonly<Record<string, object>>
  readonly Labels: Readonly<Record<string, string>>
  /** Durations are in nanoseconds. */
  readonly Healthcheck: {
    readonly Test: readonly string[]
    readonly Interval: number
    readonly Timeout: number
    readonly StartPeriod: number
    readonly Retries: number
  }
}

export interface Image {
  /** The folder with its files. */
  readonly root: string
  readonly settings: ImageSettings
}

interface ContainerOptions {
  readonly image: Image
  /** Path of the network namespace that it joins. */
  readonly network: string
  /** A folder of the machine that is mounted at /data, in which other runs may have left something. */
  readonly dataDir: string
  readonly env?: Readonly<Record<string, string>>
  /** Folders of the machine by the paths at which the container sees them, unchangeable. */
  readonly folders?: Readonly<Record<string, string>>
  /** Replaces the command of the image, as arguments of `docker run` do. */
  readonly command?: readonly string[]
}

/** A process that runs from an image, by crun. */
export interface Container {
  /** Its process id outside of the container. */
  readonly pid: number
  readonly output: string
  /** Resolves with the first match in the output, and rejects if the process ends without one. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** Runs a command beside the process, as health checks do. */
  exec(command: readonly string[]): Promise<Finished>
  /** Sends the signal to crun, which passes it on, and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** Kills the process if it still runs, and removes what crun has written. */
  remove(): Promise<void>
}

/**
 * Starts a process as a careful operator runs an image: as the user that the image names, without capabilities and without a way
 * to get more, on a root file system that cannot be written to; only /data and /tmp can.
 */
export async function startContainer(options: ContainerOptions): Promise<Container> {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-container-'))
  const id = home.slice(home.lastIndexOf('/') + 1)
  await writeFile(join(home, 'config.json'), JSON.stringify(specificationOf(options)))
  await mkdir(options.dataDir, { recursive: true })
  // A new volume takes over the owner and the mode of the folder of the image.
  const { uid, gid, mode } = await stat(join(options.image.root, 'data'))
  await chown(options.dataDir, uid, gid)
  await chmod(options.dataDir, mode)

  const crun = ['--root', join(home, 'state'), '--cgroup-manager=disabled']
  const pidFile = join(home, 'pid')
  const child = spawnIsolated([...crun, 'run', '--bundle', home, '--pid-file', pidFile, id])
  let output = ''
  const printed = new EventEmitter()
  const listen = (chunk: Buffer) => {
    output += chunk.toString()
    printed.emit('more')
  }
  child.stdout?.on('data', listen)
  child.stderr?.on('data', listen)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  ended.then(() => printed.emit('more'))
  await Promise.race([once(printed, 'more'), ended])
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => '0'))
  // If the test runner exits early, crun's end would not be that of the container.
  const killWithUs = () => pid > 0 && process.kill(pid, 'SIGKILL')
  process.once('exit', killWithUs)
  ended.then(() => process.off('exit', killWithUs))

  return {
    pid,
    ended,
    get output() {
      return output
    },
    async prints(pattern) {
      for (;;) {
        const match = pattern.exec(output)
        if (match !== null) return match
        if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode}:\n${output}`)
        await once(printed, 'more')
      }
    },
    async exec(command) {
      const user = options.image.settings.User
      const checked = spawnIsolated([...crun, 'exec', '--user', user, id, ...command])
      let answer = ''
      for (const stream of [checked.stdout, checked.stderr]) {
        stream?.on('data', (chunk: Buffer) => {
          answer += chunk.toString()
        })
      }
      const [code] = (await once(checked, 'close')) as [number | null]
      return { code, output: answer }
    },
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
    async remove() {
      await promisify(execFile)('crun', [...crun, 'delete', '--force', id]).catch(() => undefined)
      child.kill('SIGKILL')
      await ended
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Runs a command of an image to its end. */
export async function runContainer(options: ContainerOptions): Promise<Finished> {
  const container = await startContainer(options)
  try {
    return { code: await container.ended, output: container.output }
  } finally {
    await container.remove()
  }
}

/** On some machines crun refuses the control groups that it finds, even if it is configured to use none, so none are visible. */
function spawnIsolated(args: readonly string[]): ChildProcess {
  const script = 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec crun "$@"'
  return spawn('unshare', ['--mount', 'sh', '-c', script, 'crun', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function userOf({ settings }: Image): { readonly uid: number; readonly gid: number } {
  const [uid = 0, gid = 0] = settings.User.split(':').map(Number)
  return { uid, gid }
}

/** The container in the words of the OCI runtime specification. */
function specificationOf({ image, network, dataDir, env = {}, folders = {}, command }: ContainerOptions) {
  const { settings, root } = image
  const bind = (source: string, destination: string, mode: 'ro' | 'rw') => ({
    destination,
    type: 'bind',
    source,
    options: ['bind', mode, 'nosuid', 'nodev'],
  })
  return {
    ociVersion: '1.0.2',
    process: {
      user: userOf(image),
      args: [...settings.Entrypoint, ...(command ?? settings.Cmd)],
      env: [...settings.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: settings.WorkingDir,
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    hostname: 'gateway',
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=64k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
      bind(dataDir, '/data', 'rw'),
      ...Object.entries(folders).map(([path, source]) => bind(source, path, 'ro')),
    ],
    linux: {
      namespaces: [
        { type: 'pid' },
        { type: 'ipc' },
        { type: 'uts' },
        { type: 'mount' },
        { type: 'network', path: network },
      ],
    },
  }
}
