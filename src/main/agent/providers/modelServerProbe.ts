import { z } from 'zod'
import { mostServedModels, servedModelName } from '../../../shared/contract/providers.ts'
import { httpClient } from '../../platform/httpClient.ts'
import { parsedJson } from '../../platform/parsedJson.ts'

/** What stands at an address. `nothing`: why, in a few words that follow its name. */
export type Probed = { kind: 'models'; models: string[] } | { kind: 'needs-key' } | { kind: 'nothing'; why: string }

export type ModelServerProbe = {
  probe(baseUrl: string, options: { key?: string | undefined; withinMs: number }): Promise<Probed>
  close(): void
}

const maxAnswerBytes = 1024 * 1024
const ModelList = z.object({ data: z.array(z.object({ id: z.string() })).max(10_000) })

/**
 * Reads the list of models that a server offers. Whatever answers may be anything: its words are never repeated, it
 * leads nowhere else, and of its list only names count that a model can have.
 */
export function modelServerProbe(): ModelServerProbe {
  const client = httpClient({ maxAnswerBytes })
  return {
    async probe(baseUrl, { key, withinMs }) {
      const signal = AbortSignal.timeout(withinMs)
      const headers = { accept: 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
      try {
        const { status, text } = await client.ask(`${baseUrl}/models`, { method: 'GET', headers, signal })
        if (status === 401 || status === 403) return { kind: 'needs-key' }
        if (status >= 300 && status < 400)
          return { kind: 'nothing', why: 'answers with a redirect, which Steward does not follow' }
        if (status !== 200) return { kind: 'nothing', why: `answers with status ${status}, not with a list of models` }
        return modelsIn(text)
      } catch (failure) {
        if (signal.aborted) return { kind: 'nothing', why: `does not answer within ${withinMs / 1000} s` }
        const isLarge = failure instanceof Error && failure.message === 'The answer is too large.'
        return { kind: 'nothing', why: isLarge ? 'answers with more than a list of models' : 'cannot be reached' }
      }
    },
    close: client.close,
  }
}

function modelsIn(text: string): Probed {
  const list = ModelList.safeParse(parsedJson(text))
  if (!list.success) return { kind: 'nothing', why: 'does not answer with a list of models' }
  const names = list.data.data.map(({ id }) => id).filter((id) => servedModelName.test(id))
  return { kind: 'models', models: [...new Set(names)].slice(0, mostServedModels) }
}
