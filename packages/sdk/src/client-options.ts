import { checkOptions } from './check-options.ts'
import { TrunklineError } from './errors.ts'
import type { ChatClientOptions } from './options.ts'

/** Options that were checked, with the defaults of the environment. */
export type Resolved<Options extends ChatClientOptions> = Options & { readonly baseURL: string }

/**
 * Returns the options of a client with what the environment adds to them.
 *
 * @param hasToken whether the caller passes a credential; those of the environment are then not used
 * @throws TrunklineError naming the option that is at fault
 */
export function resolveOptions<Options extends ChatClientOptions>(
  given: Options,
  hasToken?: boolean,
): Resolved<Options> {
  const {
    baseURL = environment('TRUNKLINE_URL') ?? '',
    apiKey = hasToken ? undefined : environment('TRUNKLINE_API_KEY'),
    dangerouslyAllowBrowser,
  } = given
  // First, because a misspelt `baseURL` leaves no address.
  checkOptions(given)
  // What `fetch` says of such a URL repeats it, with the credentials that it may have.
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/i.test(baseURL))
    throw new TrunklineError('baseURL (TRUNKLINE_URL) must be an http(s) URL without credentials.')
  if (apiKey && !dangerouslyAllowBrowser && isBrowser())
    throw new TrunklineError('apiKey in a browser requires dangerouslyAllowBrowser.')
  // It may be given as a URL.
  return { ...given, apiKey, baseURL: `${baseURL}` }
}

/** Returns undefined where there is no environment, as in browsers, or where it may not be read, as in Deno without a permission. */
function environment(name: string): string | undefined {
  try {
    return process.env[name]?.trim() || undefined
  } catch {
    return undefined
  }
}

/** A page or one of its workers. Cloudflare's workers have no `importScripts`, and those of Deno are on a server. */
export function isBrowser(): unknown {
  const scope = globalThis as Scope
  return scope.window?.document ?? (scope.importScripts && !scope.Deno)
}

interface Scope {
  readonly window?: { readonly document?: unknown }
  readonly importScripts?: unknown
  readonly Deno?: unknown
}
