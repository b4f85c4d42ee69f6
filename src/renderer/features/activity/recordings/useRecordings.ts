import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { signWindowUrl } from '#renderer/api/windowLink.ts'
import { deleteRecording, deleteRecordings, listRecordings, readRecording } from '#shared/contract/recordings.ts'
import { buildRequest } from '#shared/contract/route.ts'
import { parseCast } from './castPlayback.ts'

export const recordingsKey = ['recordings'] as const
export const recordingListKey = [...recordingsKey, 'list'] as const
const pageSize = 100

export function useRecordings() {
  const agent = useAgent()
  return useInfiniteQuery({
    queryKey: recordingListKey,
    staleTime: 0,
    queryFn: ({ pageParam: offset, signal }) => agent(listRecordings, { offset, limit: pageSize }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const read = pages.reduce((sum, page) => sum + page.recordings.length, 0)
      return last.recordings.length > 0 && read < last.total ? read : undefined
    },
  })
}

/** Reads a recording. A recording in progress can be refetched. */
export function useCast(recordingId: string) {
  return useQuery({
    queryKey: [...recordingsKey, 'cast', recordingId],
    queryFn: async ({ signal }) => {
      const answer = await fetch(buildCastAddress(recordingId), { signal })
      if (!answer.ok) throw new Error('This recording no longer exists.')
      const cast = parseCast(await answer.text())
      if (!cast) throw new Error('Could not read this recording.')
      return cast
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

export function buildCastAddress(recordingId: string): string {
  return signWindowUrl(buildRequest(readRecording, { recordingId }).path)
}

export function useDeleting() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const onSuccess = () => readAgain(queryClient, recordingListKey)
  const one = useMutation({ mutationFn: (recordingId: string) => agent(deleteRecording, { recordingId }), onSuccess })
  const all = useMutation({ mutationFn: () => agent(deleteRecordings, {}), onSuccess })
  return { one: one.mutateAsync, all: all.mutateAsync }
}
