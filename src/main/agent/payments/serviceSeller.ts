import type { HttpClient } from '#platform/httpClient.ts'
import { AppError } from '#shared/appError.ts'
import { createTaskHeaders, type PresentTask } from '../base/taskContext.ts'
import { fetchOnce, type Seller } from './seller.ts'

/** A connection to the service that Steward is connected to, for one request. */
export type ServiceConnection = {
  client: HttpClient
  baseUrl: string
  authorization: string
  /** Task of the request. */
  task?: PresentTask | undefined
}

/** Creates the seller for the connected service. It is called as the user; addresses are paths. */
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
