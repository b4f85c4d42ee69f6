import { statfs } from 'node:fs/promises'
import { AppError } from '#shared/appError.ts'

/** Free space reserved for running sandboxes, because their disks are sparse and grow up to their promised size. */
export const reservedBytes = 256 * 1024 ** 2

export async function getFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** @throws AppError `sandbox/capacity` if the disk has too little space for another sandbox */
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
