import { isIP } from 'node:net'

/** The addresses of each name of `/etc/hosts`, in the order of the file. Names are in lower case. */
export type Hosts = ReadonlyMap<string, readonly string[]>

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase()
      const addresses = hosts.get(key) ?? []
      if (!addresses.includes(address)) hosts.set(key, [...addresses, address])
    }
  }
  return hosts
}
