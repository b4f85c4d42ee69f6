import { z } from 'zod'

/** Options of the container engine for the sandbox host. Contains no secrets. */
export const DockerOptions = z.object({
  /**
   * `unix:///path`, `npipe:////./pipe/name` or `tcp://host:port`. Null selects the first default socket that responds.
   */
  endpoint: z.string().nullable(),
  /** PEM files for a `tcp` endpoint. */
  tls: z.object({ caFile: z.string(), certFile: z.string(), keyFile: z.string() }).nullable(),
  /** Default image of sandboxes. */
  image: z.string(),
  /** Whether the image may be pulled if it is missing. */
  pull: z.boolean(),
})
export type DockerOptions = z.infer<typeof DockerOptions>

export const defaultDocker: DockerOptions = {
  endpoint: null,
  tls: null,
  image: 'docker.io/library/debian:12',
  pull: true,
}
