import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

/** Largest file that one upload or read carries; base64 and JSON need room beside it. */
export const maxFileBytes = 64 * 1024 * 1024
const maxUploadBodyBytes = 96 * 1024 * 1024

/** An absolute path inside the sandbox without `.` or `..` parts. */
export const SandboxPath = z
  .string()
  .min(1, 'must not be empty')
  .max(4096, 'must have at most 4096 characters')
  .regex(/^\//, 'must be absolute')
  .refine((path) => !path.includes('\0'), 'must not contain a NUL')
  .refine(
    (path) => !path.split('/').some((part) => part === '..' || part === '.'),
    'must not contain `.` or `..` parts',
  )

const PathQuery = z.object({ path: SandboxPath })

export const uploadFile = defineRoute({
  operation: 'fileUpload',
  method: 'POST',
  path: '/v1/sandboxes/:id/files/upload/json',
  aliases: ['/v1/sandboxes/:id/files'],
  summary: 'Write a file, making its folders',
  tag: 'Files',
  params: SandboxParams,
  body: z.object({ path: SandboxPath, content: z.string(), encoding: z.enum(['utf8', 'base64']).default('utf8') }),
  response: z.object({
    status: z.literal('ok'),
    success: z.literal(true),
    path: z.string(),
    size: z.int(),
    bytes_written: z.int(),
  }),
  status: 201,
  idempotent: true,
  maxBodyBytes: maxUploadBodyBytes,
})

export const readFile = defineRoute({
  operation: 'fileRead',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/read',
  aliases: ['/v1/sandboxes/:id/files'],
  summary: 'Read a file',
  tag: 'Files',
  params: SandboxParams,
  /** Without `encoding`, text comes as `utf8` and anything else as `base64`. */
  query: PathQuery.extend({ encoding: z.enum(['utf8', 'base64']).optional() }),
  response: z.object({ path: z.string(), content: z.string(), encoding: z.enum(['utf8', 'base64']), size: z.int() }),
})

const FileType = z.enum(['file', 'directory', 'symlink', 'other'])

/** Names are bytes. One that is no UTF-8 comes with U+EF80 to U+EFFF for the bytes 80 to FF that are none, and goes so. */
export const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  type: FileType,
  size: z.int(),
  modified_at: IsoTime,
  /** Of a symlink: what it says, and what it leads to; null when that is not there. */
  target: z.string().optional(),
  target_type: FileType.nullable().optional(),
})
export type FileEntry = z.infer<typeof FileEntry>

/** A path as it is now. */
export const FileState = FileEntry.extend({
  /** Permission bits, of chmod(2). */
  mode: z.int(),
  /** Another one when its content may be another; what it is made of differs between runtimes. */
  version: z.string(),
})
export type FileState = z.infer<typeof FileState>

export const listFiles = defineRoute({
  operation: 'fileList',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/list',
  summary: 'List a folder, folders first, then by name',
  tag: 'Files',
  params: SandboxParams,
  query: PathQuery,
  /** `truncated`: there are more than one answer takes. */
  response: z.object({ path: z.string(), entries: z.array(FileEntry), truncated: z.boolean() }),
})
