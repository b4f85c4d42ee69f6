import type { Image } from '#shared/contract/images.ts'

export type ImageList = readonly Image[]

/** Adds an image, sorted by name, or replaces it in place. */
export function withImage(list: ImageList, image: Image): ImageList {
  const others = list.filter(({ name }) => name !== image.name)
  return [...others, image].sort((a, b) => a.name.localeCompare(b.name))
}

export function omitImage(list: ImageList, name: string): ImageList {
  return list.filter((it) => it.name !== name)
}
