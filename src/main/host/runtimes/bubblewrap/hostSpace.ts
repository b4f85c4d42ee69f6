import { statfs } from 'node:fs/promises'
import { AppError } from '#shared/appError.ts'

/** Disks of machines take what is written, not what was promised: so much must be left for those that run. */
export const reservedBytes = 256 * 1024 ** 2

/** Returns the free space of this existing folder's file system, in bytes. */
export async function getFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** @throws AppError `sandbox/capacity` when the machine's own disk has no room for another sandbox */
export async function assertSpace(folder: string, minBytes: number): Promise<void> {
  const free = await getFreeBytes(folder)
  if (free >= minBytes) return
  throw new AppError('sandbox/capacity', 'No capacity', {
    detail: `The disk of the data folder has ${formatMegabytes(free)} free; another sandbox needs ${formatMegabytes(minBytes)}.`,
  })
}

export function formatMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MB`
}
