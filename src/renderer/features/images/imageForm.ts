import { AppError } from '#shared/appError.ts'
import { addImage, type ImageSource } from '#shared/contract/images.ts'
import type { Input } from '#shared/contract/route.ts'
import type { RuntimeReport } from '#shared/contract/sandboxes.ts'

export type SourceKind = ImageSource['kind']
export type ImageForm = {
  name: string
  kind: SourceKind
  /** Package names, separated by spaces or commas. */
  packages: string
  path: string
  reference: string
}
export type ImageErrors = Partial<Record<'name' | 'packages' | 'path' | 'reference' | 'kind', string>>

export const emptyImageForm: ImageForm = { name: '', kind: 'system', packages: '', path: '', reference: '' }

export function toImageInput({ name, kind, packages, path, reference }: ImageForm): Input<typeof addImage> {
  const trimmed = name.trim()
  if (kind === 'archive') return { name: trimmed, source: { kind, path: path.trim() } }
  if (kind === 'registry') return { name: trimmed, source: { kind, reference: reference.trim() } }
  return { name: trimmed, source: { kind, packages: packages.split(/[\s,]+/).filter((it) => it !== '') } }
}

/** Validates the input as the service would. */
export function validateImageInput(input: Input<typeof addImage>): ImageErrors {
  const errors: ImageErrors = {}
  for (const { path, message } of addImage.body.safeParse(input).error?.issues ?? []) {
    const field = path[0] === 'source' ? path[1] : path[0]
    if (field === 'name' || field === 'packages' || field === 'path' || field === 'reference') {
      errors[field] ??= toSentence(message)
    }
  }
  return errors
}

/**
 * Maps a validation error of the service to a field.
 * @returns undefined if the error concerns the request as a whole
 */
export function toImageErrors(failure: unknown, kind: SourceKind): ImageErrors | undefined {
  if (!(failure instanceof AppError)) return undefined
  if (failure.code === 'image/exists') return { name: failure.message }
  if (failure.code !== 'image/source') return undefined
  return { [kind === 'archive' ? 'path' : kind === 'registry' ? 'reference' : 'kind']: failure.message }
}

/** Returns the source kinds that at least one available runtime accepts. */
export function listSourceKinds(runtimes: readonly RuntimeReport[]): ReadonlySet<SourceKind> {
  return new Set(runtimes.filter(({ available }) => available).flatMap((it) => it.image_sources))
}

function toSentence(demand: string): string {
  return `${demand.charAt(0).toUpperCase()}${demand.slice(1)}.`
}
