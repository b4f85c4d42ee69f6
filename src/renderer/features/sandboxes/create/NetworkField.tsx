import { Select } from '#renderer/ui/Select.tsx'
import { Network, type OfferedRuntime } from '#shared/contract/sandboxes.ts'
import { getNetworkDetail, getNetworkLabel, networks } from '../networkLabels.ts'

type NetworkFieldProps = {
  /** Selected network; undefined for the runtime's default. */
  value: Network | undefined
  runtime: OfferedRuntime | undefined
  error: string | undefined
  onChange: (network: Network) => void
}

const unknown = { value: 'unknown', label: 'Default', detail: '', disabled: false } as const

export function NetworkField({ value, runtime, error, onChange }: NetworkFieldProps) {
  const chosen = value ?? runtime?.default_network
  const isDefault = (network: Network) => network === runtime?.default_network
  // Lists the default first.
  const offered = networks.toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))
  const options = offered.map((network) => toNetworkOption(network, runtime))
  return (
    <Select
      label="Network"
      options={chosen === undefined ? [unknown, ...options] : options}
      value={chosen ?? unknown.value}
      onChange={(network) => network !== unknown.value && onChange(Network.parse(network))}
      hint={chosen && getNetworkDetail(chosen)}
      error={error}
    />
  )
}

function toNetworkOption(network: Network, runtime: OfferedRuntime | undefined) {
  const missing = runtime !== undefined && !runtime.networks.includes(network)
  const why = missing && runtime.network_detail !== null ? ` ${runtime.network_detail}` : ''
  const mark = network === runtime?.default_network ? ' (default)' : ''
  return {
    value: network,
    label: `${getNetworkLabel(network)}${mark}`,
    detail: `${getNetworkDetail(network)}${why}`,
    disabled: missing,
  }
}
