import { QueryCache, QueryClient } from '@tanstack/react-query'
import { AppError } from '#shared/appError.ts'
import { isSessionLost } from './sessionLost.ts'
import { sessionKey } from './useSession.ts'

const attempts = 6

/** Events keep cached data fresh, so queries do not refetch on focus or mount. */
export function createAppQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        // The agent runs on this computer and is reachable without a network.
        networkMode: 'always',
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) => isPassing(error) && failures < attempts,
        retryDelay: (failures) => Math.min(200 * 2 ** failures, 2000),
      },
      mutations: { networkMode: 'always', retry: false },
    },
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        const lost = isSessionLost(error) && queryKey[0] !== sessionKey[0]
        if (lost) void client.invalidateQueries({ queryKey: sessionKey })
      },
    }),
  })
  return client
}

function isPassing(error: Error): boolean {
  return error instanceof AppError && (error.code === 'service/unavailable' || error.code === 'host/unavailable')
}
