import { useState } from 'react'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { ModelPrice, type ModelServer } from '#shared/contract/providers.ts'
import { useProviderActions } from './useProviders.ts'

type ServerPriceDialogProps = { server: ModelServer; onClose: () => void }

/** Sets one price for all models of a server that have no listed price. */
export function ServerPriceDialog({ server, onClose }: ServerPriceDialogProps) {
  const { changeServer } = useProviderActions()
  const [isFree, setFree] = useState(server.free)
  const [input, setInput] = useState(formatAmount(server.price?.input_per_million))
  const [output, setOutput] = useState(formatAmount(server.price?.output_per_million))
  const [wrong, setWrong] = useState<{ input?: string; output?: string }>({})

  const save = () => {
    const isEmpty = input.trim() === '' && output.trim() === ''
    const price =
      isFree || isEmpty ? null : { input_per_million: parseAmount(input), output_per_million: parseAmount(output) }
    const issues = price ? (ModelPrice.safeParse(price).error?.issues ?? []) : []
    const findFault = (field: string) => issues.find(({ path }) => path[0] === field)?.message
    const [inputFault, outputFault] = [findFault('input_per_million'), findFault('output_per_million')]
    setWrong({
      ...(inputFault !== undefined && { input: `The price ${inputFault}.` }),
      ...(outputFault !== undefined && { output: `The price ${outputFault}.` }),
    })
    if (issues.length > 0) return false
    return changeServer(server.id, { free: isFree, price }).then(onClose)
  }
  const listed = Object.keys(server.listed_prices).length
  return (
    <FormDialog
      title={`Price of ${server.name}`}
      description="In US dollars per million tokens. Used for costs and limits."
      action="Save price"
      onSend={save}
      onClose={onClose}
    >
      <Checkbox label="Its models are free" checked={isFree} onChange={setFree} />
      {!isFree && (
        <>
          <TextField label="Input" value={input} onChange={setInput} error={wrong.input} placeholder="0.15" />
          <TextField label="Output" value={output} onChange={setOutput} error={wrong.output} placeholder="0.60" />
          {listed > 0 && (
            <p className="text-small text-faint">
              {listed === 1 ? '1 model keeps the price' : `${listed} models keep the prices`} that the server lists.
            </p>
          )}
        </>
      )}
    </FormDialog>
  )
}

function formatAmount(amount: number | undefined): string {
  return amount === undefined ? '' : String(amount)
}

function parseAmount(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text.trim().replace(/^\$/, ''))
}
