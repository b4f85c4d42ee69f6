import { AppError } from '#shared/appError.ts'
import { describeWrite } from '#shared/contract/activityTexts.ts'
import { listFiles, maxFileBytes, readFile, uploadFile } from '#shared/contract/files.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { chooseEncoding } from '../base/chooseEncoding.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'

const fileDeadlineMs = 120_000

export function createFileRoutes({
  sandboxes,
  call,
  activity,
}: {
  sandboxes: SandboxRegistry
  call: HostCall
  activity: Pick<ActivityLog, 'note'>
}): Endpoint[] {
  return [
    createEndpoint(uploadFile, async ({ params, body: { path, content, encoding } }, { caller }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      const bytes = decodeContent(content, encoding)
      if (bytes.length > maxFileBytes) {
        throw new AppError('request/too-large', `\`content\` must have at most ${maxFileBytes} bytes.`)
      }
      const { result } = await call('file.write', { sandboxId, path }, { body: bytes, deadlineMs: fileDeadlineMs })
      const size = result.bytesWritten
      activity.note(sandboxId, { type: 'file.written', description: describeWrite(path, size) })
      return { status: 'ok', success: true, path, size, bytes_written: size }
    }),
    createEndpoint(readFile, async ({ params, query: { path, encoding } }, { caller, signal }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      const { result, body } = await call(
        'file.read',
        { sandboxId, path, maxBytes: maxFileBytes },
        { deadlineMs: fileDeadlineMs, signal },
      )
      const used = encoding ?? chooseEncoding(body)
      return { path, content: body.toString(used), encoding: used, size: result.size }
    }),
    createEndpoint(listFiles, async ({ params, query: { path } }, { caller, signal }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      const { result } = await call('file.list', { sandboxId, path }, { deadlineMs: fileDeadlineMs, signal })
      return { path, ...result }
    }),
  ]
}

/** @throws AppError `request/invalid` for content that is not padded standard base64 or not well-formed text */
function decodeContent(content: string, encoding: 'utf8' | 'base64'): Buffer {
  if (encoding === 'utf8') {
    if (!content.isWellFormed()) throw new AppError('request/invalid', '`content` must be well-formed Unicode text.')
    return Buffer.from(content)
  }
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) {
    throw new AppError('request/invalid', '`content` must be standard base64 with padding.')
  }
  return Buffer.from(content, 'base64')
}
