import { z } from 'zod'
import { UploadId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { SandboxPath } from './files.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

/** Limits of uploads. */
export const uploadLimits = {
  /** Maximum size of a file. */
  maxBytes: 50 * 1024 ** 3,
  /** Begun and not completed, of one sandbox. */
  perSandbox: 64,
  /** Recommended chunk size, so that a lost connection costs little. */
  chunkBytes: 8 * 1024 * 1024,
  /** The most that one request may carry. */
  maxChunkBytes: 64 * 1024 * 1024,
  /** After the last byte that came. */
  keptMs: 24 * 3600 * 1000,
} as const

/** Header with the offset of a chunk, in bytes. */
export const uploadOffsetHeader = 'Upload-Offset'

/** Upload in progress. */
export const Upload = z.object({
  upload_id: UploadId,
  path: z.string(),
  size: z.int(),
  /** Received bytes. The next request begins at this offset. */
  offset: z.int(),
  /** The file is in its place. */
  complete: z.boolean(),
  chunk_bytes: z.int(),
  expires_at: IsoTime,
})
export type Upload = z.infer<typeof Upload>

const UploadParams = SandboxParams.extend({ uploadId: UploadId })
const wholeSize = 'must be a whole number of bytes, at most 50 GiB'

/** As in https://tus.io/protocols/resumable-upload, with JSON answers. */
export const beginUpload = defineRoute({
  operation: 'uploadBegin',
  method: 'POST',
  path: '/v1/sandboxes/:id/files/uploads',
  summary: 'Begin a resumable upload of a file',
  description: `Accepts up to ${uploadLimits.maxBytes / 1024 ** 3} GiB, and ${uploadLimits.perSandbox} incomplete uploads per sandbox (429 \`upload/too-many\`). Fails with 409 \`file/exists\` unless \`replace\` is set, or 409 \`file/changed\`. Expires ${uploadLimits.keptMs / 3_600_000} hours after its last byte.`,
  example: { path: '/root/big.bin', size: 16_000_000 },
  tag: 'Files',
  refusals: [507],
  params: SandboxParams,
  body: z.object({
    path: SandboxPath,
    size: z.int(wholeSize).min(0, wholeSize).max(uploadLimits.maxBytes, wholeSize),
    modified_at: z.iso.datetime({ offset: true }).optional(),
    /** A file in its place goes when this one is complete; it gives its mode. */
    replace: z.boolean().default(false),
    /** The file in its place must still be of this version (`fileStat`) then. */
    if_version: z.string().max(200).optional(),
    /** Hexadecimal SHA-256 of the whole file, verified before the file is moved into place. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal characters')
      .optional(),
  }),
  response: Upload,
  status: 201,
  idempotent: true,
})

export const appendUpload = defineRoute({
  operation: 'uploadAppend',
  method: 'PATCH',
  path: '/v1/sandboxes/:id/files/uploads/:uploadId',
  summary: 'Append the next piece to an upload',
  description: `Accepts ${uploadLimits.maxChunkBytes / 1024 ** 2} MiB per request; bytes before a lost connection count. The last piece moves the file into place; an empty request retries a failed move. Fails with 409 \`upload/offset\`, or \`upload/checksum\`, which removes the upload.`,
  tag: 'Files',
  refusals: [507],
  params: UploadParams,
  response: Upload,
  maxBodyBytes: uploadLimits.maxChunkBytes,
  raw: {
    request: 'application/octet-stream',
    headers: {
      [uploadOffsetHeader]: {
        description:
          'Where the piece belongs. Another one than the offset of the upload is answered with 409 and that.',
        required: true,
      },
    },
  },
})

export const getUpload = defineRoute({
  operation: 'uploadGet',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/uploads/:uploadId',
  summary: 'Get the progress of an upload',
  description:
    'Continue from `offset` after a lost connection. Also works while the sandbox is stopped. Fails with 404 `upload/not-found` once the upload is canceled or removed after its expiry.',
  tag: 'Files',
  params: UploadParams,
  response: Upload,
})

export const cancelUpload = defineRoute({
  operation: 'uploadCancel',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/files/uploads/:uploadId',
  summary: 'Cancel an upload',
  description:
    'Removes the received bytes; a file that is already complete stays. Fails with 404 `upload/not-found` if repeated, or 409 `sandbox/not-running`.',
  tag: 'Files',
  params: UploadParams,
  response: z.object({ success: z.literal(true), message: z.string() }),
})
