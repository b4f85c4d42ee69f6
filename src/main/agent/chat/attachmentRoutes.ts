import { addAttachment, getAttachmentContent } from '#shared/contract/chatLibrary.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { Attachments } from './attachments.ts'

export function createAttachmentRoutes(attachments: Attachments): LocalEndpoint[] {
  return [
    createLocalEndpoint(addAttachment, ({ query }, { body }) => attachments.add(query.name, body)),
    createLocalEndpoint(getAttachmentContent, ({ params }) => attachments.content(params.attachmentId)),
  ]
}
