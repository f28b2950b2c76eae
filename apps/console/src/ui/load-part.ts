/** A part of the console that could not be loaded: the gateway is away, or it serves another version of the console by now. */
export class PartNotLoadedError extends Error {}

/** @throws PartNotLoadedError */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load()
  } catch (error) {
    throw new PartNotLoadedError('a part of the console was not loaded', { cause: error })
  }
}

/** Whether the gateway answers, which takes neither a login nor its database. */
export async function isGatewayBack(): Promise<boolean> {
  const response = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
  return response?.ok === true
}

/** Loads the console anew once the gateway answers; a page of the browser's own would take its place otherwise. */
export async function reloadIfReachable(): Promise<void> {
  if (await isGatewayBack()) location.reload()
}
