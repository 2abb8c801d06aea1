! Types whose last component is a text, beside allocatable ones, alone and in arrays.
program texts
    implicit none
    type :: record
        integer :: count
        real(8), allocatable :: values(:)
        character(len=5) :: word
    end type
    type(record) :: one, some(3)
    integer :: i

    one%count = 4
    allocate (one%values(4))
    one%values = 2
    one%word = 'abc'
    !$omp target map(tofrom: one)
    one%values(3) = 7
    one%word(2:2) = 'Z'
    one%word(5:5) = '!'
    !$omp end target
    print *, nint(sum(one%values)), one%word

    do i = 1, 3
        some(i)%count = i
        allocate (some(i)%values(i))
        some(i)%values = i
        some(i)%word = 'word'
    end do
    !$omp target enter data map(to: some)
    !$omp target
    do i = 1, 3
        some(i)%word(i + 1:i + 2) = 'xy'
        some(i)%values(i) = 10*i
    end do
    !$omp end target
    !$omp target exit data map(from: some)
    do i = 1, 3
        print *, nint(sum(some(i)%values)), some(i)%word
    end do
end program
