/** An uploaded file. */
export const UPLOAD_DESCRIPTIONS = {
  id: 'The id of the upload.',
  url: 'A public URL of the file, to be sent in `files` of a chat. It works until the upload expires or is deleted.',
  filename: 'The name of the file, such as `report.pdf`, without what a name must not contain.',
  contentType: 'The media type, decided by the content, such as `application/pdf`.',
  size: 'The length of the file in bytes.',
  sha256: 'The SHA-256 of the file in hex.',
  createdBy: 'The label that the client sent with the file. It gives no rights.',
  endUser: 'The end user whom the file is of; empty if the upload named none.',
  createdAt: 'When the file was uploaded.',
  expiresAt: 'When the file and its URL expire.',
} as const
