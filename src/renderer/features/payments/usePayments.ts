import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type exportPayments, getPayment, listPayments } from '#shared/contract/localPayments.ts'
import type { Payment } from '#shared/contract/paymentRecords.ts'
import type { Input } from '#shared/contract/route.ts'
import { useAgent } from '../../api/AgentProvider.tsx'

export const paymentsKey = ['payments'] as const
const pageSize = 50

/** Filters shared by the list and the export. */
export type PaymentQuery = Omit<Input<typeof exportPayments>, 'format'>

/** Reads payments in pages, newest first. */
export function usePaymentList(query: PaymentQuery) {
  const agent = useAgent()
  const pages = useInfiniteQuery({
    queryKey: [...paymentsKey, 'list', query],
    queryFn: ({ pageParam, signal }) =>
      agent(
        listPayments,
        { ...query, limit: pageSize, ...(pageParam !== undefined && { before: pageParam }) },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ payments, has_more: hasMore }): string | undefined =>
      hasMore ? payments.at(-1)?.id : undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
  const all = pages.data?.pages.flatMap(({ payments }) => payments) ?? []
  const payments = [...new Map(all.map((item) => [item.id, item])).values()]
  return { ...pages, payments, total: pages.data?.pages.at(-1)?.total ?? 0 }
}

export function useUnclearCount(): number {
  const agent = useAgent()
  const { data } = useQuery({
    queryKey: [...paymentsKey, 'unclear'],
    queryFn: async ({ signal }) => (await agent(listPayments, { state: 'unknown', limit: 1 }, { signal })).total,
    staleTime: 0,
  })
  return data ?? 0
}

export function usePayment(paymentId: string) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...paymentsKey, 'one', paymentId],
    queryFn: ({ signal }) => agent(getPayment, { paymentId }, { signal }),
    staleTime: 0,
  })
}

export function isFinal({ state }: Pick<Payment, 'state'>): boolean {
  return state === 'settled' || state === 'refused' || state === 'reconciled'
}
