/** The longest name that the file systems in use store, in bytes of UTF-8. */
const NAME_BYTES_MAX = 255
/** What follows the last dot of a name is kept as its extension when the name is cut, unless it is longer than this. */
const EXTENSION_BYTES_MAX = 32

/** Of a longer name only so many characters at each end are looked at; a request has room for one of megabytes. */
const LOOKED_AT_CHARACTERS = 1_000

const FALLBACK = 'file'

/**
 * Returns the name under which a file is kept and shown: the sent name without its folders and without what could disguise
 * it, which every usual system can store.
 */
export function shownName(raw: string | undefined): string {
  const name = withoutMiddle(afterFolders(raw ?? ''))
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(INVISIBLE, '')
    .replaceAll(LONE_JOINER, '')
    // What was removed may have stood between a letter and its accent.
    .normalize('NFC')
    .replaceAll(REFUSED_BY_WINDOWS, '_')
  const { stem, extension } = splitExtension(trimEnds(name))
  return complete(stem, extension)
}

/**
 * Returns the name at the end of the file's URL, by which platforms judge the file: the shown name with an extension of the
 * checked type.
 *
 * @param shown a result of {@link shownName}
 * @param extension the usual extension of the type, without the dot
 */
export function urlName(shown: string, extension: string): string {
  const lowerCase = shown.toLowerCase()
  const isUsual = [extension, ...(ALSO_USUAL[extension] ?? [])].some((usual) =>
    lowerCase.endsWith(`.${usual}`),
  )
  return isUsual ? shown : complete(shown, `.${extension}`)
}

/**
 * Extensions that platforms know as well as the usual one. `markdown` and `jfif`, for example, are unknown to FastGPT, so
 * the usual one follows them.
 */
const ALSO_USUAL: Readonly<Record<string, readonly string[]>> = {
  jpg: ['jpeg'],
  tif: ['tiff'],
  heic: ['heif'],
  aif: ['aiff'],
  mid: ['midi'],
  mpg: ['mpeg'],
  mts: ['ts'],
}

/** Folders are separated by `/` or `\`, depending on the sender's system. */
function afterFolders(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}

function withoutMiddle(name: string): string {
  if (name.length <= 2 * LOOKED_AT_CHARACTERS) return name
  return name.slice(0, LOOKED_AT_CHARACTERS) + name.slice(-LOOKED_AT_CHARACTERS)
}

/**
 * Control characters, line separators, and what is not drawn: marks that reverse the direction of the text (by which
 * `gpj.exe` can be shown as `exe.jpg`), spaces without width, fillers. The joiners are treated by {@link LONE_JOINER}.
 */
const INVISIBLE =
  /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu

/**
 * Persian, the languages of India and emoji are spelled with joiners. Elsewhere they are invisible, so they stay only
 * between characters outside of ASCII.
 */
const LONE_JOINER =
  /(?<![\P{ASCII}--[\u200c\u200d]])[\u200c\u200d]|[\u200c\u200d](?![\P{ASCII}--[\u200c\u200d]])/gv

/** Files come from every system and are saved on every system. Windows refuses these in names. */
const REFUSED_BY_WINDOWS = /[<>:"|?*]/g

/** Names of devices, which Windows opens instead of a file, with any extension and with spaces before it. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i

/** A dot in front hides a file on Unix; Windows drops dots and spaces at the end. */
function trimEnds(name: string): string {
  return trimEnd(name.replace(/^[\s.]+/, ''))
}

/** Cutting may leave a joiner at the end, where it has nothing to join. */
function trimEnd(name: string): string {
  return name.replace(/(?<![\s.\u200c\u200d])[\s.\u200c\u200d]+$/, '')
}

function splitExtension(name: string): { stem: string; extension: string } {
  const at = name.lastIndexOf('.')
  const hasExtension = at > 0 && Buffer.byteLength(name.slice(at)) <= EXTENSION_BYTES_MAX
  return hasExtension ? { stem: name.slice(0, at), extension: name.slice(at) } : { stem: name, extension: '' }
}

/** Joins both parts to a name that is neither empty nor too long nor that of a device. */
function complete(stem: string, extension: string): string {
  const name = fit(stem, extension)
  return DEVICE.test(name) ? fit(`_${stem}`, extension) : name
}

function fit(stem: string, extension: string): string {
  const kept = startOf(stem, NAME_BYTES_MAX - Buffer.byteLength(extension))
  // Without a cut, spaces and dots before the extension stay: they belong to the name.
  return `${(kept === stem && extension !== '' ? kept : trimEnd(kept)) || FALLBACK}${extension}`
}

/** As many whole characters from the start of a text as fit into a number of bytes. */
function startOf(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax))
  return text.slice(0, read)
}
