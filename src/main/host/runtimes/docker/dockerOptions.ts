import { z } from 'zod'

/** Options of the container engine for the sandbox host; none is secret. */
export const DockerOptions = z.object({
  /** `unix:///path`, `npipe:////./pipe/name` or `tcp://host:port`; null is the first usual socket that answers. */
  endpoint: z.string().nullable(),
  /** PEM files for a `tcp` endpoint. */
  tls: z.object({ caFile: z.string(), certFile: z.string(), keyFile: z.string() }).nullable(),
  /** Default image of sandboxes. */
  image: z.string(),
  /** Whether it may be fetched when it is not there. */
  pull: z.boolean(),
})
export type DockerOptions = z.infer<typeof DockerOptions>

export const defaultDocker: DockerOptions = {
  endpoint: null,
  tls: null,
  image: 'docker.io/library/debian:12',
  pull: true,
}
