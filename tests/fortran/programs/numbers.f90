! A region knows the number of its device. LLVM's local device is told the host's, so nothing is
! expected of it.
program numbers
  use omp_lib
  implicit none
  integer :: device, number, length
  logical :: told, right

  call get_environment_variable('OMPI_COMM_WORLD_RANK', length=length)
  told = length > 0 ! omprma-run has started the program
  right = .true.
  do device = 0, omp_get_num_devices() - 1
    number = -1
    !$omp target device(device) map(tofrom: number)
    number = omp_get_device_num()
    !$omp end target
    right = right .and. number == device
  end do
  print '(a, l2)', 'number', right .or. .not. told
end program
