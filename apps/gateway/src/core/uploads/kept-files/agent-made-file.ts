/** A file as a platform has named it. */
export interface AgentMadeFile {
  /** Absolute. It is not used where the bytes are given. */
  readonly url?: string | undefined
  readonly bytes?: Uint8Array | undefined
  readonly type?: 'image' | 'document' | 'audio' | 'video' | undefined
  readonly name?: string | undefined
  /** The platform's word: a content of another kind is not kept, and otherwise the content decides. */
  readonly mediaType?: string | undefined
}
