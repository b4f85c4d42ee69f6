import type { ActivityBy } from '#shared/contract/activity.ts'
import { isTurn } from '#shared/contract/originator.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import type { AccountId } from '#shared/ids.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { ActivityLog } from './activityLog.ts'

export type ModelUseOrigin = { by: ActivityBy; task: TaskId | null }

/** A charged completion. */
export type ModelCompletion = ModelUseOrigin & { accountId: AccountId; model: string; chargedMicroUsd: number }

/**
 * Records completions in the activity log. A completion of a task is recorded immediately, so that the charge is linked
 * to the task. Other completions are recorded as one entry per requester, model and `periodMs`; the first entry of a
 * series is written early. Completions of chats are skipped because the local agent records them with their message.
 */
export type ModelUse = {
  record(completion: ModelCompletion): void
  /** Records all pending counts and stops. */
  close(): void
}

type Count = Omit<ModelCompletion, 'chargedMicroUsd'> & {
  times: number
  chargedMicroUsd: number
  timer: NodeJS.Timeout | undefined
}

const periodMs = 5 * 60_000
const firstMs = 5_000
/** Maximum number of pending counts. When it is reached, all counts are written early. */
const maxCounts = 1_000

export function createModelUse(activity: Pick<ActivityLog, 'recordForAccount'>): ModelUse {
  const counts = new Map<string, Count>()

  const write = ({ accountId, by, task, model, times, chargedMicroUsd }: Count): void => {
    const often = times === 1 ? '' : ` ${times.toLocaleString('en-US')} times`
    const cost = chargedMicroUsd > 0 ? ` · ${formatUsd(String(chargedMicroUsd), 'exact')}` : ''
    activity.recordForAccount(accountId, {
      type: 'models.used',
      description: `Used ${model}${often}${cost}.`,
      ...(chargedMicroUsd > 0 && { chargedMicroUsd }),
      origin: { by, task },
    })
  }
  const flush = (key: string, count: Count): void => {
    clearTimeout(count.timer)
    if (count.times === 0) {
      counts.delete(key) // unused for one period
      return
    }
    write(count)
    const next: Count = { ...count, times: 0, chargedMicroUsd: 0 }
    next.timer = setTimeout(() => flush(key, next), periodMs).unref()
    counts.set(key, next)
  }
  const flushAll = (): void => {
    for (const count of counts.values()) {
      clearTimeout(count.timer)
      if (count.times > 0) write(count)
    }
    counts.clear()
  }

  return {
    record(completion) {
      const { accountId, by, task, model, chargedMicroUsd } = completion
      const isOriginator = by.via !== undefined
      if (task !== null && isTurn(task) && !isOriginator) return
      if (task !== null) {
        write({ ...completion, times: 1, timer: undefined })
        return
      }
      const key = JSON.stringify([accountId, by.kind, by.name, by.id, model])
      const count = counts.get(key)
      if (count) {
        count.times += 1
        count.chargedMicroUsd += chargedMicroUsd
        return
      }
      if (counts.size >= maxCounts) flushAll()
      const begun: Count = { ...completion, times: 1, timer: undefined }
      begun.timer = setTimeout(() => flush(key, begun), firstMs).unref()
      counts.set(key, begun)
    },
    close: flushAll,
  }
}
