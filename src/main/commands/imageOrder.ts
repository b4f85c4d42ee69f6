import { resolve } from 'node:path'
import type { ImageArguments } from '#config/startOptions.ts'
import { AppError } from '#shared/appError.ts'
import { ImageName, ImageSource } from '#shared/contract/images.ts'

export type ImageOrder =
  | { kind: 'list' }
  | { kind: 'add'; name: ImageName; source: ImageSource }
  | { kind: 'remove'; name: ImageName }

/**
 * Parses the arguments of the command `image`. A separate module, because it needs zod and every start parses the other
 * options.
 * @throws AppError `command/usage`
 */
export function parseImageCommand({ positionals: [action, name], from, packages }: ImageArguments): ImageOrder {
  if (action === 'list' && name === undefined) return { kind: 'list' }
  if (action !== 'add' && action !== 'remove')
    throw createUsageError('`image` requires `add NAME`, `remove NAME` or `list`.')
  const named = ImageName.safeParse(name)
  if (!named.success) {
    const problem = name === undefined ? 'is missing' : named.error.issues[0]?.message
    throw createUsageError(`The name of the image ${problem}.`)
  }
  return action === 'remove'
    ? { kind: 'remove', name: named.data }
    : { kind: 'add', name: named.data, source: parseImageSource(from, packages) }
}

function parseImageSource(from: string | undefined, packages: string | undefined): ImageSource {
  if (from !== undefined && from !== 'system') {
    if (packages !== undefined)
      throw createUsageError('--packages requires `--from system`. An archive has its own packages.')
    return { kind: 'archive', path: resolve(from) }
  }
  const names = packages?.split(',').filter((name) => name !== '')
  const source = ImageSource.safeParse({ kind: 'system', packages: names })
  if (source.success) return source.data
  throw createUsageError(`--packages ${packages} ${source.error.issues[0]?.message}.`)
}

function createUsageError(message: string): AppError {
  return new AppError('command/usage', message)
}
