import { type Answer, Refusal } from '../serving/answer.ts'
import type { SentFile } from '../serving/list-files.ts'
import { asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import { Uploads } from '../serving/uploads.ts'
import { type CozeDialect, type CozeError, cozeData, cozeErrors, cozeRefusal } from './errors.ts'
import { snowflake } from './snowflake.ts'

const FILE_BYTES_MAX = 512 * 1024 * 1024

/** Stores Coze's uploads and looks up the files of a message. An account sees only its own uploads. */
export class CozeFiles {
  readonly #uploads = new Uploads()

  upload({ file }: JsonRecord, account: CozeDialect): Answer {
    const { filename, contentType, size, sha256 } = asRecord(file)
    const upload = {
      owner: account,
      filename: asText(filename),
      contentType: asText(contentType),
      size: Number(size),
      sha256: asText(sha256),
    }
    if (!upload.filename || upload.size === 0) throw refusal(account, EMPTY)
    if (upload.size > FILE_BYTES_MAX) throw refusal(account, TOO_LARGE)
    const id = snowflake()
    this.#uploads.add(id, upload)
    return cozeData({
      id,
      bytes: upload.size,
      created_at: Math.floor(Date.now() / 1_000),
      file_name: upload.filename,
    })
  }

  /** @throws Refusal if an upload is unknown or an item has neither a URL nor an id */
  find(items: readonly JsonRecord[], account: CozeDialect): readonly SentFile[] {
    return items.map(({ file_url, file_id }) => {
      const url = asText(file_url)
      if (url) return { url, name: '' }
      const upload = this.#uploads.find(asText(file_id), account)
      if (!upload) throw refusal(account, UNKNOWN)
      return { name: upload.filename, size: upload.size, sha256: upload.sha256 }
    })
  }

  forget(): void {
    this.#uploads.forget()
  }
}

// The cloud's documentation has the codes, but neither their texts nor the code for an unknown id, which is
// taken to be that of any wrong parameter.
const EMPTY = { code: 4300, msg: 'The uploaded file is empty.' }
const TOO_LARGE = { code: 4302, msg: 'The size of the uploaded file exceeds the limit.' }
const UNKNOWN = { code: 4000, msg: 'The parameter file_id is invalid. Please review your input.' }

/** coze-studio has no codes for files. */
function refusal(dialect: CozeDialect, error: CozeError): Refusal {
  return new Refusal(cozeRefusal(dialect, dialect === 'cloud' ? error : cozeErrors.studio.rejected))
}
