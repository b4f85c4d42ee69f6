import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { addImage, type Image, listImages, removeImage } from '#shared/contract/images.ts'
import type { LocalEventOf } from '#shared/contract/localApi.ts'
import type { Input } from '#shared/contract/route.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { patchFromEvent } from '../../api/eventPatch.ts'
import { type ImageList, omitImage, withImage } from './imageList.ts'

export const imagesKey = ['images'] as const

/** Reads the images on each mount. */
export function useImages() {
  const agent = useAgent()
  return useQuery<ImageList>({
    queryKey: imagesKey,
    queryFn: async ({ signal }) => (await agent(listImages, {}, { signal })).images,
    staleTime: 0,
  })
}

export function patchChangedImage(queryClient: QueryClient, { image }: LocalEventOf<'image.changed'>): void {
  patchFromEvent<ImageList>(queryClient, imagesKey, (list) => withImage(list, image))
}

export function patchRemovedImage(queryClient: QueryClient, { name }: LocalEventOf<'image.removed'>): void {
  patchFromEvent<ImageList>(queryClient, imagesKey, (list) => omitImage(list, name))
}

/** Actions on images. Each rejects, so that the form or row can show the error. */
export type ImageActions = {
  add(image: Input<typeof addImage>): Promise<Image>
  remove(name: string): Promise<void>
}

export function useImageActions(): ImageActions {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return {
    async add(image) {
      const added = await agent(addImage, image)
      patchFromEvent<ImageList>(queryClient, imagesKey, (list) =>
        list.some(({ name }) => name === added.name) ? list : withImage(list, added),
      )
      return added
    },
    async remove(name) {
      await agent(removeImage, { name })
      patchFromEvent<ImageList>(queryClient, imagesKey, (list) => omitImage(list, name))
    },
  }
}
