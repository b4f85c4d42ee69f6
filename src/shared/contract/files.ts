import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute, QueryFlag } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

/** Maximum file size of one upload or read. The body limit is higher, because of base64 and JSON. */
export const maxFileBytes = 64 * 1024 * 1024
const maxUploadBodyBytes = 96 * 1024 * 1024

/** Absolute path in the sandbox without `.` or `..` segments. */
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
  summary: 'Write a file and create its missing parent folders',
  description: `Replaces the content of an existing file. Fails with 413 \`request/too-large\` above ${maxFileBytes / 1024 ** 2} MiB (start an upload instead), 507 \`file/no-space\`, or 409 \`sandbox/not-running\`.`,
  example: { path: '/root/hello.txt', content: 'hello\n' },
  tag: 'Files',
  refusals: [507],
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
  description: `The default encoding is \`utf8\` for text and \`base64\` for other content. Fails with 413 \`file/too-large\` above ${maxFileBytes / 1024 ** 2} MiB, 404 \`file/not-found\`, or 400 \`file/not-a-file\` for a folder.`,
  tag: 'Files',
  refusals: [413],
  params: SandboxParams,
  /** Default: `utf8` for text; `base64` for other content, or if escapes would more than double its size. */
  query: PathQuery.extend({ encoding: z.enum(['utf8', 'base64']).optional() }),
  response: z.object({ path: z.string(), content: z.string(), encoding: z.enum(['utf8', 'base64']), size: z.int() }),
})

const FileType = z.enum(['file', 'directory', 'symlink', 'other'])

/**
 * Entry of a folder. Names are bytes: 80 to FF outside valid UTF-8 are mapped to U+EF80 to U+EFFF in both directions.
 */
export const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  type: FileType,
  size: z.int(),
  modified_at: IsoTime,
  /** Target of a symlink, and the type of the file that it resolves to. Null if it is dangling. */
  target: z.string().optional(),
  target_type: FileType.nullable().optional(),
})
export type FileEntry = z.infer<typeof FileEntry>

/** Current state of a file. */
export const FileState = FileEntry.extend({
  /** Permission bits as in chmod(2). */
  mode: z.int(),
  /** Changes with the content. The format depends on the runtime. */
  version: z.string(),
})
export type FileState = z.infer<typeof FileState>

export const listFiles = defineRoute({
  operation: 'fileList',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/list',
  summary: 'List a folder, with folders first, then by name',
  description:
    'Returns up to about 8 MiB of entries, without pagination. Lists symbolic links as links, with their target. Fails with 404 `file/not-found`, 400 `file/not-a-folder`, or 409 `sandbox/not-running`.',
  tag: 'Files',
  params: SandboxParams,
  query: PathQuery,
  /** `truncated`: whether there are more entries than one response may contain. */
  response: z.object({ path: z.string(), entries: z.array(FileEntry), truncated: z.boolean() }),
})

export const statFile = defineRoute({
  operation: 'fileStat',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/stat',
  summary: 'Get the status of a path',
  description:
    'Describes a link itself, or its target if `follow` is set. To detect changes, pass `version` as `if_version` of an upload. Fails with 404 `file/not-found`.',
  tag: 'Files',
  params: SandboxParams,
  /** `follow`: whether to follow a link to a file. */
  query: PathQuery.extend({ follow: QueryFlag.default(false) }),
  response: FileState,
})

export const makeFolder = defineRoute({
  operation: 'folderCreate',
  method: 'POST',
  path: '/v1/sandboxes/:id/files/folders',
  summary: 'Create a folder and its missing parents',
  description:
    'Safe to repeat: `created` is false if the folder already exists. Fails with 409 `file/exists` if a file has this path, or 400 `file/not-a-folder` if a parent is a file.',
  example: { path: '/root/projects/demo' },
  tag: 'Files',
  refusals: [507],
  params: SandboxParams,
  body: z.object({ path: SandboxPath }),
  /** `created`: whether the file did not exist before. */
  response: z.object({ path: z.string(), created: z.boolean() }),
  status: 201,
  idempotent: true,
})

const FromTo = z.object({ from: SandboxPath, to: SandboxPath })

export const moveFile = defineRoute({
  operation: 'fileMove',
  method: 'POST',
  path: '/v1/sandboxes/:id/files/move',
  summary: 'Move or rename a file or a folder',
  description:
    'Moves links as links. The parent folder of the target must exist. Fails with 409 `file/exists` if the target exists, unless `replace` is set. Never replaces a folder with entries (409 `file/not-empty`).',
  example: { from: '/root/notes.txt', to: '/root/archive/notes.txt' },
  tag: 'Files',
  refusals: [507],
  params: SandboxParams,
  /** `replace`: replaces an existing file, link or empty folder. */
  body: FromTo.extend({ replace: z.boolean().default(false) }),
  response: z.object({ success: z.literal(true), path: z.string() }),
  idempotent: true,
})

export const copyFile = defineRoute({
  operation: 'fileCopy',
  method: 'POST',
  path: '/v1/sandboxes/:id/files/copy',
  summary: 'Copy a file or folder with its modes and times',
  description:
    'Copies everything or nothing. Copies links as links. Fails with 409 `file/exists` if the target exists, 404 `file/not-found` if its parent folder is missing, or 507 `file/no-space`.',
  example: { from: '/root/app', to: '/root/app-backup' },
  tag: 'Files',
  refusals: [507],
  params: SandboxParams,
  body: FromTo,
  response: z.object({ success: z.literal(true), path: z.string() }),
  status: 201,
  idempotent: true,
})

export const removeFile = defineRoute({
  operation: 'fileRemove',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/files',
  summary: 'Remove a file or a folder',
  description:
    'Removes a link but not its target. The removal cannot be undone. Fails with 409 `file/not-empty` for a folder with entries, unless `recursive` is set.',
  tag: 'Files',
  params: SandboxParams,
  /** `recursive`: deletes a folder with its contents. */
  query: PathQuery.extend({ recursive: QueryFlag.default(false) }),
  response: z.object({ success: z.literal(true), message: z.string() }),
})

export const downloadFile = defineRoute({
  operation: 'fileDownload',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/content',
  summary: 'Download a file or a range of it',
  description:
    'Follows links and has no size limit. To resume an interrupted download, send `Range` and `If-Range`. Fails with 404 `file/not-found`, or 400 `file/not-a-file` for a folder.',
  tag: 'Files',
  params: SandboxParams,
  query: PathQuery,
  response: z.unknown(),
  raw: {
    response: {
      mediaTypes: ['application/octet-stream', 'image/*'],
      description:
        'Content of the file, with `ETag` and `Last-Modified`. Status 206 with `Content-Range` for a range, 304 if the client has the current version, 416 for a range beyond the end. The download aborts if the file changes.',
    },
    headers: {
      Range: {
        description: 'A single byte range. A request with several ranges returns the whole file.',
        required: false,
      },
      'If-Range': { description: '`ETag` of the version that the range belongs to.', required: false },
      'If-None-Match': { description: '`ETag` of the version that the client has.', required: false },
    },
  },
})

export const downloadFolder = defineRoute({
  operation: 'folderDownload',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/archive',
  summary: 'Download a folder as an archive',
  description:
    'Streams the files, folders and links of the folder. Links are not followed. Fails with 400 `file/not-a-folder` for a file or link, or 400 `file/path` for the root.',
  tag: 'Files',
  params: SandboxParams,
  query: PathQuery.extend({ format: z.enum(['tar.gz', 'tar']).default('tar.gz') }),
  response: z.unknown(),
  raw: {
    response: {
      mediaTypes: ['application/gzip', 'application/x-tar'],
      description: 'Archive, streamed during creation. The download aborts if the archive cannot be completed.',
    },
    headers: {},
  },
})
