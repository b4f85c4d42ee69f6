import { Download } from 'lucide-react'
import { Button } from '../../ui/Button.tsx'
import { PageFrame } from '../../ui/PageFrame.tsx'
import { PageTabs } from '../../ui/PageTabs.tsx'
import { buildAddress, useRoute } from '../../ui/route.ts'
import { useAddressFilters } from '../../ui/useAddressFilters.ts'
import { LimitsPage } from './limits/LimitsPage.tsx'
import { downloadPayments } from './list/downloadPayments.ts'
import { PaymentList } from './list/PaymentList.tsx'
import { noPaymentFilters, PaymentFilters, toPaymentQuery } from './list/paymentFilters.ts'
import { ReceiptPage } from './receipt/ReceiptPage.tsx'

const pages = [
  { id: undefined, title: 'All payments' },
  { id: 'limits', title: 'Limits' },
] as const

export function PaymentsScreen() {
  const [, place] = useRoute()
  const [filters, setFilters] = useAddressFilters(PaymentFilters, noPaymentFilters)
  const isList = place === undefined
  return (
    <PageFrame
      title="Payments"
      actions={
        isList && (
          <Button size="small" icon={Download} onClick={() => downloadPayments(toPaymentQuery(filters))}>
            Export CSV
          </Button>
        )
      }
      bar={
        <PageTabs
          label="Payments"
          tabs={pages.map(({ id, title }) => ({
            title,
            address: id ? buildAddress('payments', id) : buildAddress('payments'),
            isPresent: id === place || (id === undefined && place !== 'limits'),
          }))}
        />
      }
    >
      {place === 'limits' ? (
        <LimitsPage />
      ) : place === undefined ? (
        <PaymentList filters={filters} onFilters={setFilters} />
      ) : (
        <ReceiptPage key={place} paymentId={place} />
      )}
    </PageFrame>
  )
}
