import { ChevronRight } from 'lucide-react'
import { isChatModel, type ListedModel } from '#shared/contract/inference.ts'
import { formatModelCount, formatPrice, formatTokens } from './modelLabels.ts'

type ModelListProps = {
  /** Owner of the models, used in the accessible label. */ of: string
  models: readonly ListedModel[]
}

/** Models of a provider with prices, collapsed by default. */
export function ModelList({ of, models }: ModelListProps) {
  if (models.length === 0) return null
  return (
    <details className="group">
      <summary className="flex w-fit cursor-pointer list-none items-center gap-1 rounded-small pr-1 text-small text-muted hover:text-text [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 group-open:rotate-90" />
        {formatModelCount(models.length)} <span className="sr-only">of {of}</span>
      </summary>
      <ModelTable of={of} models={models} />
    </details>
  )
}

const columns = ['Input', 'Cached input', 'Output', 'Context'] as const

export function ModelTable({ of, models }: ModelListProps) {
  return (
    // A focusable box that scrolls, so that a keyboard reaches its right end.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section className="mt-1.5 overflow-x-auto" aria-label={`Models of ${of}`} tabIndex={0}>
      <table className="w-full border-collapse text-left text-small">
        <caption className="sr-only">Models of {of}, with prices in US dollars per million tokens</caption>
        <thead className="text-faint">
          <tr>
            <th scope="col" className="py-1 pr-3 font-medium">
              Model
            </th>
            {columns.map((title) => (
              <th key={title} scope="col" className="py-1 pl-3 text-right font-medium whitespace-nowrap">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {models.map(({ id, kind, pricing, context_window }) => (
            <tr key={id}>
              <th scope="row" className="py-1 pr-3 font-mono font-normal whitespace-nowrap">
                {id}
              </th>
              {[
                formatPrice(pricing, 'input_per_million'),
                formatPrice(pricing, 'cache_read_per_million'),
                isChatModel({ kind }) ? formatPrice(pricing, 'output_per_million') : 'Embeddings',
                formatTokens(context_window),
              ].map((text, place) => (
                <td key={columns[place]} className="py-1 pl-3 text-right whitespace-nowrap text-muted tabular-nums">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
