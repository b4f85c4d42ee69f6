import type { HostImage } from '#shared/contract/hostIpc.ts'
import { addImage, type Image, listImages, removeImage } from '#shared/contract/images.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { Images } from './images.ts'

export function createImageRoutes(images: Images): Endpoint[] {
  return [
    createEndpoint(listImages, async () => {
      const listed = (await images.list()).map(toWireImage)
      return { images: listed, data: listed, count: listed.length }
    }),
    createEndpoint(addImage, async ({ body }) => toWireImage(await images.add(body))),
    createEndpoint(removeImage, async ({ params: { name } }) => {
      await images.remove(name)
      return { success: true, name, message: 'Image removed.' }
    }),
  ]
}

export function toWireImage({ sizeBytes, createdAtMs, ...image }: HostImage): Image {
  return { ...image, size_bytes: sizeBytes, created_at: toIsoTime(createdAtMs) }
}
