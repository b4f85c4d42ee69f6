import { useMutation } from '@tanstack/react-query'
import { Copy, ListChecks } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { copyText } from '#renderer/ui/copyText.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageScroll } from '#renderer/ui/PageFrame.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { domainLimits } from '#shared/contract/domainSearch.ts'
import { checkDomains } from '../domainCalls.ts'
import { Availability, formatPrice } from './Availability.tsx'
import { BuyButton } from './BuyButton.tsx'
import { formatCheckedCsv, parseNames, validateNames } from './nameList.ts'

type CheckSource = 'registrar' | 'rdap'
const sources = [
  { value: 'registrar', label: 'Your registrar' },
  { value: 'rdap', label: 'Public registries' },
] as const

export function CheckPage() {
  const agent = useAgent()
  const [text, setText] = useState('')
  const names = parseNames(text)
  const [source, setSource] = useState<CheckSource>('registrar')
  const fault = validateNames(names, source === 'rdap' ? domainLimits.rdap : domainLimits.check)
  const checking = useMutation({
    mutationFn: async () => (await agent(checkDomains, { domains: names.join(','), source })).domains,
  })
  const copy = async (csv: string) => {
    if (await copyText(csv)) notify.done('Copied as CSV')
  }
  return (
    <PageScroll width="table" className="flex flex-col gap-4 py-5">
      <div className="flex max-w-120 flex-col items-start gap-3">
        <div className="w-full">
          <TextAreaField
            label="Names to check"
            hint={`One per line, up to ${source === 'rdap' ? domainLimits.rdap : domainLimits.check}.${names.length > 0 ? ` ${names.length} so far.` : ''}`}
            error={fault}
            placeholder={'myshop.com\nmyshop.io'}
            rows={6}
            value={text}
            onChange={setText}
            monospaced
          />
        </div>
        <ChoiceChips legend="Source" options={sources} value={source} onChange={setSource} />
        {source === 'rdap' && <p className="text-small text-faint">Checks the official registries. Shows no prices.</p>}
        <Button
          variant="primary"
          icon={ListChecks}
          busy={checking.isPending}
          disabled={names.length === 0 || fault !== undefined}
          onClick={() => checking.mutate()}
        >
          Check availability
        </Button>
      </div>
      {checking.error && <ErrorNotice error={checking.error} />}
      {checking.data && (
        <section aria-label="Checked names">
          <div className="flex items-center justify-between gap-3 border-b border-line pb-2">
            <p className="text-muted">
              {checking.data.filter((it) => it.available).length} of {checking.data.length} available
            </p>
            <Button size="small" icon={Copy} onClick={() => void copy(formatCheckedCsv(checking.data))}>
              Copy as CSV
            </Button>
          </div>
          <ul>
            {checking.data.map((item) => (
              <li
                key={item.domain}
                className="grid min-h-9 grid-cols-[minmax(0,1fr)_6rem_6rem_4rem] items-center gap-3 border-b border-line py-1.5"
              >
                <Availability {...item} />
                <span className="text-right tabular-nums">{formatPrice(item.price)}</span>
                {source === 'rdap' ? <span /> : <BuyButton result={item} renewal={null} />}
              </li>
            ))}
          </ul>
        </section>
      )}
    </PageScroll>
  )
}
