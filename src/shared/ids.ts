import { z } from 'zod'
import type { ErrorCode } from './appError.ts'

/** Errors for unknown ids in paths. Malformed ids cause the same error. */
export const unknownIds = z.registry<{ code: ErrorCode; message: (id: string) => string }>()

/** 32 lower-case hexadecimal characters. */
export const SandboxId = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'must be 32 lower-case hexadecimal characters')
  .register(unknownIds, { code: 'sandbox/not-found', message: () => 'Sandbox not found or access denied' })
  .brand<'SandboxId'>()
export type SandboxId = z.infer<typeof SandboxId>

/** `pty_` and 24 lower-case hexadecimal characters. */
export const TerminalId = z
  .string()
  .regex(/^pty_[0-9a-f]{24}$/, 'must be `pty_` and 24 lower-case hexadecimal characters')
  .register(unknownIds, { code: 'terminal/not-found', message: (id) => `There is no terminal ${id} in this sandbox.` })
  .brand<'TerminalId'>()
export type TerminalId = z.infer<typeof TerminalId>

/** `snap_` and 24 lower-case hexadecimal characters. */
export const SnapshotId = z
  .string()
  .regex(/^snap_[0-9a-f]{24}$/, 'must be `snap_` and 24 lower-case hexadecimal characters')
  .register(unknownIds, { code: 'snapshot/not-found', message: (id) => `This sandbox has no snapshot ${id}.` })
  .brand<'SnapshotId'>()
export type SnapshotId = z.infer<typeof SnapshotId>

/** `upl_` and 24 lower-case hexadecimal characters. */
export const UploadId = z
  .string()
  .regex(/^upl_[0-9a-f]{24}$/, 'must be `upl_` and 24 lower-case hexadecimal characters')
  .register(unknownIds, { code: 'upload/not-found', message: (id) => `There is no upload ${id}.` })
  .brand<'UploadId'>()
export type UploadId = z.infer<typeof UploadId>

export const AccountId = z.string().min(1).brand<'AccountId'>()
export type AccountId = z.infer<typeof AccountId>

/** Returns the first eight characters, which users see and type. */
export function shortenId(id: SandboxId): string {
  return id.slice(0, 8)
}
