import type { ChatEvent } from '#core/agents/events.ts'
import { madeFileType } from '#core/agents/made-file.ts'
import { isObject, type JsonObject, listOf, textOf } from '#core/base/values/json.ts'

/** The files of an event `message_file`, or of the list that an event of an end has. Those of the user are no answer. */
export function madeFiles(files: unknown): readonly ChatEvent[] {
  return (Array.isArray(files) ? files : [files]).flatMap((file) => (isObject(file) ? fileEvent(file) : []))
}

/** The files among the outputs of a workflow, which are values like any other, alone or in lists. */
export function filesInOutputs(outputs: JsonObject): readonly ChatEvent[] {
  return Object.values(outputs)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .flatMap((value) => (isObject(value) && isFile(value) ? fileEvent(value) : []))
}

/** The outputs without those that are files alone. */
export function withoutFiles(outputs: JsonObject): JsonObject {
  const isFiles = (value: unknown) =>
    (isObject(value) && isFile(value)) ||
    (Array.isArray(value) && value.length > 0 && value.every((each) => isObject(each) && isFile(each)))
  return Object.fromEntries(Object.entries(outputs).filter(([, value]) => !isFiles(value)))
}

/** Dify marks its own files, so that they are not taken for objects of an author. */
function isFile({ dify_model_identity: mark }: JsonObject): boolean {
  return mark === '__dify__file__'
}

function fileEvent(file: JsonObject): readonly ChatEvent[] {
  if (file.belongs_to === 'user') return []
  const url = textOf(file.url) ?? textOf(file.remote_url)
  const name = textOf(file.filename)
  if (url === undefined && name === undefined) return []
  const mediaType = textOf(file.mime_type)
  return [
    {
      type: 'file',
      file: {
        type: madeFileType(file.type, mediaType, file.extension, name, url),
        ...(url !== undefined && { url }),
        ...(name !== undefined && { name }),
        ...(mediaType !== undefined && { mediaType }),
      },
    },
  ]
}

/** The end of a message lists all its files. Those that an app without a workflow has been sent have only the way in which they came to tell. */
export function filesOfEnd(frame: JsonObject): readonly ChatEvent[] {
  return madeFiles(listOf(frame.files).filter((file) => !(isObject(file) && wasSent(file))))
}

function wasSent(file: JsonObject): boolean {
  return !isFile(file) && (file.transfer_method === 'local_file' || file.transfer_method === 'remote_url')
}
