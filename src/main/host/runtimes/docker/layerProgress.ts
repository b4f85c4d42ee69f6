import { z } from 'zod'

/**
 * Docker tells each layer's size and progress.
 * @see https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Image/operation/ImageCreate
 */
const Line = z.object({
  id: z.string(),
  status: z.string(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).optional(),
})

const done = /^(pull complete|already exists|download complete)/i

/** @returns for each line that the engine sends, the share of all bytes so far; null while no size is known */
export function createLayerProgress(): (line: unknown) => number | null {
  const layers = new Map<string, { current: number; total: number }>()
  let furthest = 0
  return (line) => {
    const { data } = Line.safeParse(line)
    if (data) {
      const layer = layers.get(data.id) ?? { current: 0, total: 0 }
      const { current = layer.current, total = layer.total } = data.progressDetail ?? {}
      if (/^download/i.test(data.status)) layers.set(data.id, { current, total: Math.max(total, current) })
      if (done.test(data.status) && layers.has(data.id)) layers.set(data.id, { ...layer, current: layer.total })
    }
    const sum = (pick: 'current' | 'total') => [...layers.values()].reduce((total, layer) => total + layer[pick], 0)
    const total = sum('total')
    if (total === 0) return null
    furthest = Math.max(furthest, sum('current') / total)
    return Math.min(1, furthest)
  }
}
