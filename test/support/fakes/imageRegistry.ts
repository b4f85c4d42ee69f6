import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createListening } from './listening.ts'

export type ImageRegistry = {
  /** Reference of the image in this registry. */
  reference: string
  close(): Promise<void>
}

/**
 * Creates a registry with one image, from a folder in OCI image layout.
 * @see https://github.com/opencontainers/distribution-spec
 */
export async function createImageRegistry(layout: string): Promise<ImageRegistry> {
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
    manifests: { digest: string; mediaType: string }[]
  }
  const [manifest] = index.manifests
  if (!manifest) throw new Error('There is no image in the layout.')
  const blob = (digest: string): string => join(layout, 'blobs', ...digest.split(':'))

  const server = createServer((request, response) => {
    const [, kind, name] = /^\/v2\/small\/(manifests|blobs)\/([a-z0-9:]+)$/.exec(request.url ?? '') ?? []
    if (request.url === '/v2/') {
      response.end('{}')
      return
    }
    const digest = kind === 'manifests' && name === 'latest' ? manifest.digest : (name ?? '')
    if (!/^sha256:[0-9a-f]{64}$/.test(digest) || !existsSync(blob(digest))) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }))
      return
    }
    const type = kind === 'manifests' ? manifest.mediaType : 'application/octet-stream'
    response.writeHead(200, { 'content-type': type, 'docker-content-digest': digest })
    if (request.method === 'HEAD') response.end()
    else createReadStream(blob(digest)).pipe(response)
  })
  const { host, close } = await createListening(server)
  return {
    reference: `${host}/small:latest`,
    close,
  }
}
