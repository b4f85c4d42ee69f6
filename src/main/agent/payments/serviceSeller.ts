import type { HttpClient } from '#platform/http/httpClient.ts'
import { AppError } from '#shared/appError.ts'
import { type CurrentTask, createTaskHeaders } from '../base/taskContext.ts'
import { fetchOnce, type Seller } from './seller.ts'

/** Connection to the connected service, for one request. */
export type ServiceConnection = {
  client: HttpClient
  baseUrl: string
  authorization: string
  task?: CurrentTask | undefined
}

/** Creates the seller for the connected service. Requests are authenticated as the user; URLs are paths. */
export function createServiceSeller(connect: () => ServiceConnection | undefined): Seller {
  return {
    async ask(request, signal) {
      const connection = connect()
      if (!connection) throw new AppError('service/unavailable', "The service isn't responding.")
      const { client, baseUrl, authorization, task } = connection
      try {
        const headers = { ...request.headers, authorization, ...createTaskHeaders(task) }
        const serviceRequest = { ...request, url: `${baseUrl}${request.url}`, headers }
        return await fetchOnce(client, serviceRequest, { signal, name: 'The service' })
      } finally {
        client.close()
      }
    },
    close() {},
  }
}
