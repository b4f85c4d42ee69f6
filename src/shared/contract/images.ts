import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'

/** Name of an image, shared by all runtimes. Value of `image` of a sandbox. */
export const ImageName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'must begin with a lower-case letter or a digit, and have only these, `.`, `_` and `-`, at most 64 characters',
  )
  .register(unknownIds, { code: 'image/not-found', message: (name) => `There is no image \`${name}\`.` })
export type ImageName = z.infer<typeof ImageName>

/** Source of an image's files. */
export const ImageSource = z.discriminatedUnion('kind', [
  /** Built from the Linux distribution of this computer, with its package manager and mirrors. */
  z.object({
    kind: z.literal('system'),
    packages: z
      .array(z.string().regex(/^[a-z0-9][a-z0-9+.-]{0,127}$/, 'must be names of packages'))
      .max(64, 'must have at most 64 names')
      .default([]),
  }),
  /**
   * File on this computer: the output of `docker save` or `skopeo copy … oci-archive:`, or a tar archive of a root file
   * system.
   */
  z.object({
    kind: z.literal('archive'),
    path: z.string().startsWith('/', 'must be an absolute path of this computer').max(4096),
  }),
  /** Pulled by a runtime that supports it, such as `docker.io/library/debian:12`. */
  z.object({
    kind: z.literal('registry'),
    reference: z
      .string()
      .regex(/^[a-z0-9][A-Za-z0-9._/:@-]{0,254}$/, 'must be an image reference, as in docker.io/library/debian:12'),
  }),
])
export type ImageSource = z.infer<typeof ImageSource>

/** Status of an image. Only `ready` images can be used for sandboxes. */
export const ImageStatus = z.enum(['adding', 'ready', 'failed'])

/** Image that sandboxes of one runtime are created from. */
export const Image = z.object({
  name: ImageName,
  runtime: z.string(),
  status: ImageStatus,
  /** Current step, source, or error, as a sentence. */
  detail: z.string(),
  /** Progress from 0 to 1 while the image is added. Null if unknown. */
  progress: z.number().min(0).max(1).nullable(),
  size_bytes: z.number().nullable(),
  created_at: IsoTime,
})
export type Image = z.infer<typeof Image>

export const listImages = defineRoute({
  operation: 'imageList',
  method: 'GET',
  path: '/v1/images',
  summary: 'List the images for new sandboxes',
  description:
    'Returns the images that all accounts share, including images with the state `adding` or `failed`. Does not list the base of each runtime.',
  tag: 'Images',
  response: z.object({ images: z.array(Image), data: z.array(Image), count: z.int() }),
})

export const addImage = defineRoute({
  operation: 'imageAdd',
  method: 'POST',
  path: '/v1/images',
  summary: 'Add an image',
  description:
    'Responds while the image is `adding`. `image.changed` on `/v1/events` and the list report its progress. A `failed` image can be added again. Fails with 409 `image/exists` if the name is in use, or 400 `image/source` if no runtime supports the source.',
  example: { name: 'debian-12', source: { kind: 'registry', reference: 'docker.io/library/debian:12' } },
  tag: 'Images',
  auth: 'owner',
  body: z.object({
    name: ImageName,
    /** Defaults to the first available runtime that accepts this source. */
    runtime: z.string().optional(),
    source: ImageSource,
  }),
  response: Image,
  status: 201,
  idempotent: true,
})

export const removeImage = defineRoute({
  operation: 'imageRemove',
  method: 'DELETE',
  path: '/v1/images/:name',
  summary: 'Remove an image or cancel adding it',
  description:
    'Fails with 409 `image/in-use` while a sandbox created from the image exists, or 409 `image/not-ready` while another request removes the image.',
  tag: 'Images',
  refusals: [409],
  auth: 'owner',
  params: z.object({ name: ImageName }),
  response: z.object({ success: z.literal(true), name: z.string(), message: z.string() }),
})
