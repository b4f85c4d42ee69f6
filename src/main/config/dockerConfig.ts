import type { DockerOptions } from '#host/runtimes/docker/dockerOptions.ts'
import type { Config } from './config.ts'

export function toDockerOptions({ sandboxes }: Config): DockerOptions {
  const { endpoint, image, pull, ca_file: caFile, cert_file: certFile, key_file: keyFile } = sandboxes.docker
  const tls = caFile !== null && certFile !== null && keyFile !== null ? { caFile, certFile, keyFile } : null
  return { endpoint, tls, image, pull }
}
