import type { Readable } from 'node:stream'
import { OperatorError } from '#core/base/errors/operator-error.ts'

/**
 * Identifies a stored file, on every storage and in every URL. It cannot be guessed, because the token is random; the name
 * is part of it so that platforms which judge a file by the end of its URL see the extension.
 */
export interface FileAddress {
  /** 43 characters of base64url: those of its installation, by which a sweep knows its own files, and then 210 random bits. */
  readonly token: string
  /** The cleaned name with the extension of the checked type, at most 255 bytes of UTF-8. */
  readonly name: string
}

/** A file to be stored, with the headers under which it is served later. */
export interface NewFile extends FileAddress {
  readonly mediaType: string
  /** Whether browsers must save the file instead of showing it. */
  readonly isAttachment: boolean
}

/** A file as a listing of the storage shows it. */
export interface StoredFile {
  /** Accepted by {@link FileStorage.remove}. Compare its token only: a local disk does not keep the name and gives an empty one. */
  readonly address: FileAddress
  /** The time of the file by the clock of the storage. */
  readonly modifiedAt: Date
}

/** How long a storage may be silent where no setting says so. */
export const STALLED_MS = 60_000

/**
 * Stores files as a whole: a file is either complete at its address or does not exist there. An error of the storage itself
 * rejects with a {@link StorageError}.
 */
export interface FileStorage {
  readonly kind: 'disk' | 's3'
  /** The longest life of a URL, whatever {@link FileStorage.urlOf} is given; `Infinity` where URLs do not end by themselves. */
  readonly urlLifeSecondsMax: number
  /**
   * Creates what the storage needs. Called once before it is used.
   *
   * @throws StorageError
   */
  prepare(): Promise<void>
  /**
   * Reads `body` as fast as the storage accepts it, and resolves when the file is durable. If `body` throws or the signal
   * aborts, it rejects with that error and removes what it has written, as far as the storage can be reached.
   */
  write(file: NewFile, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /**
   * Opens a file. The caller reads the stream to its end or destroys it, since it holds a descriptor or a connection.
   *
   * @throws FileMissing
   */
  read(address: FileAddress): Promise<Readable>
  /**
   * Where the file is on the local disk; absent on other storages.
   *
   * @throws FileMissing if the token has not the form of one
   */
  pathOf?(address: FileAddress): string
  /**
   * Removes files; those that do not exist count as removed.
   *
   * @param inTime - aborts when the time for all of them is over; by default after the time that the storage may be silent
   */
  remove(addresses: readonly FileAddress[], inTime?: AbortSignal): Promise<void>
  /** A public URL of the file, which works until `expiresAt` at the latest. */
  urlOf(address: FileAddress, expiresAt: Date): Promise<string>
  /** The file that a URL of {@link FileStorage.urlOf} leads to, whether or not it exists; undefined for other URLs. */
  addressOf(url: URL): FileAddress | undefined
  /** All complete files whose tokens begin like this, in the order of their tokens, in batches of at most 1,000. */
  list(tokenPrefix: string): AsyncIterable<readonly StoredFile[]>
  /** Removes what is left of writes that were last active before the given time; returns how many there were. */
  removeUnfinished(before: Date): Promise<number>
  /** Checks cheaply that the storage answers. */
  ping(): Promise<void>
  /**
   * Checks with a real file that files can be written, read and removed; on S3 it is read through its URL.
   *
   * @returns advice for the operator about settings that work but restrict uploads
   */
  check(): Promise<readonly string[]>
  close(): void
}

/** The storage does not answer, refuses the request or is full. `message` is for operators and contains no secrets. */
export class StorageError extends OperatorError {}

export class FileMissing extends Error {
  constructor(address: FileAddress) {
    super(`There is no file ${address.name}.`)
    this.name = 'FileMissing'
  }
}
