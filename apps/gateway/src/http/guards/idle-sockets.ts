import { networkOf } from '#core/limits/network-of.ts'

export interface IdleSocketsOptions {
  /** A socket that has been idle for less than this is left alone, since its request may be on its way. */
  readonly idleMsMin: number
  readonly elapsedMs: () => number
  /** Whether an address is that of a proxy, whose sockets belong to many clients. */
  readonly isProxy: (address: string) => boolean
}

/** The sockets of one network, which counts as one address, or those of all proxies. */
interface Network {
  readonly name: string
  sockets: number
  /** Those without a request, the longest idle first. */
  readonly idle: Set<HeldSocket<unknown>>
}

const PROXIES = 'proxies'

/**
 * The open sockets of a server by their addresses, to decide which of them is closed where there is no room for another. Only
 * idle ones are: those that wait for the next request, or for the rest of one whose caller is not known.
 */
export class IdleSockets<Socket> {
  readonly #options: IdleSocketsOptions
  readonly #networks = new Map<string, Network>()
  #size = 0

  constructor(options: IdleSocketsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  /** Adds a socket, which is idle until its first request. */
  add(socket: Socket, address: string): HeldSocket<Socket> {
    const name = this.#options.isProxy(address) ? PROXIES : networkOf(address)
    let network = this.#networks.get(name)
    if (network === undefined) {
      network = { name, sockets: 0, idle: new Set() }
      this.#networks.set(name, network)
    }
    network.sockets += 1
    this.#size += 1
    return new HeldSocket(socket, network, this.#options.elapsedMs, () => this.#removed(network))
  }

  /**
   * The longest idle socket of the address that has most idle ones, so that an address with many sockets that work, such as a
   * balancer, is not the one that is cut. What comes through proxies may be of as many clients as there are sockets, so each counts
   * as an address of its own. Undefined if the socket has not been idle for long enough: an address with few must not lose them to
   * one whose sockets are always new.
   */
  next(): HeldSocket<Socket> | undefined {
    let found: HeldSocket<unknown> | undefined
    let most = 0
    for (const { name, idle } of this.#networks.values()) {
      const size = name === PROXIES ? Math.min(idle.size, 1) : idle.size
      if (size < most) continue
      const [longest] = idle
      if (longest === undefined) continue
      if (found === undefined || size > most || longest.idleSinceMs < found.idleSinceMs) found = longest
      most = size
    }
    const isIdle =
      found !== undefined && this.#options.elapsedMs() - found.idleSinceMs >= this.#options.idleMsMin
    return isIdle ? (found as HeldSocket<Socket>) : undefined
  }

  #removed(network: Network): void {
    network.sockets -= 1
    this.#size -= 1
    if (network.sockets === 0) this.#networks.delete(network.name)
  }
}

/** An open socket, and how many requests of it are being served. */
export class HeldSocket<Socket> {
  readonly socket: Socket
  readonly #network: Network
  readonly #elapsedMs: () => number
  #onRemove: (() => void) | undefined
  #requests = 0
  idleSinceMs: number

  constructor(socket: Socket, network: Network, elapsedMs: () => number, onRemove: () => void) {
    this.socket = socket
    this.#network = network
    this.#elapsedMs = elapsedMs
    this.#onRemove = onRemove
    this.idleSinceMs = elapsedMs()
    network.idle.add(this)
  }

  get isIdle(): boolean {
    return this.#requests === 0
  }

  /** A request has begun to arrive. Until {@link HeldSocket.begin} the socket stays idle, but as if it had just come. */
  arrive(): void {
    if (!this.isIdle || this.#onRemove === undefined) return
    this.idleSinceMs = this.#elapsedMs()
    this.#network.idle.delete(this)
    this.#network.idle.add(this)
  }

  /** A request is being served. There may be several at a time, as clients need not wait for a response. */
  begin(): void {
    this.#requests += 1
    this.#network.idle.delete(this)
  }

  /** The response to one of the requests is complete. */
  end(): void {
    this.#requests -= 1
    if (this.#requests > 0 || this.#onRemove === undefined) return
    this.idleSinceMs = this.#elapsedMs()
    this.#network.idle.add(this)
  }

  /** Does nothing the second time. */
  remove(): void {
    this.#network.idle.delete(this)
    this.#onRemove?.()
    this.#onRemove = undefined
  }
}
